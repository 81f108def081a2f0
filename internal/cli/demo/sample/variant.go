package sample

import "strings"

// variant writes s as another region's site would: the simplified characters
// that have one common traditional form in that form, and ASCII letters and
// digits at full width.
func variant(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case '0' <= r && r <= '9', 'A' <= r && r <= 'Z', 'a' <= r && r <= 'z':
			return r + ('！' - '!')
		case r < '一':
			return r
		}
		if t, ok := traditional[r]; ok {
			return t
		}
		return r
	}, s)
}

// traditional maps simplified characters of the package's sentences to their
// traditional form. Characters with several such forms are left out.
var traditional = pairs(`
万萬与與专專业業东東两兩丰豐临臨为為举舉么麼乐樂习習书書买買乱亂争爭于於云雲产產亩畝亿億仅僅从從仓倉仪儀们們价價优優会會
伞傘传傳伤傷体體余餘债債储儲儿兒关關兴興养養军軍农農决決况況冻凍准準凉涼减減凭憑击擊划劃则則创創剂劑剑劍剧劇办辦务務动動
劳勞势勢区區医醫华華协協单單卖賣厂廠厅廳历歷压壓厢廂县縣参參双雙发發变變叠疊号號后後吨噸听聽启啟员員响響团團园園围圍国國
图圖场場块塊坚堅坏壞坝壩坞塢墙牆壮壯声聲处處备備复復够夠头頭夺奪奖獎奥奧妈媽婴嬰学學宁寧宝寶实實宠寵审審宫宮对對导導寿壽
将將尘塵尝嘗尽盡层層届屆属屬屿嶼岁歲岗崗岚嵐岛島岭嶺师師帐帳带帶帮幫并並广廣库庫应應开開异異弃棄弯彎弹彈强強归歸当當录錄
径徑态態总總恒恆愿願戏戲战戰户戶扩擴扫掃扰擾抢搶护護报報担擔拟擬拣揀拥擁拦攔挤擠损損捡撿换換据據携攜摄攝摆擺摊攤数數断斷
无無旧舊时時昼晝显顯晕暈术術机機杀殺杂雜权權条條来來极極构構枫楓柜櫃标標栋棟栏欄栖棲树樹样樣档檔桥橋桩樁检檢楼樓欢歡残殘
气氣氢氫汇匯汤湯没沒沟溝泽澤测測济濟浅淺浏瀏涡渦涨漲渔漁温溫湾灣湿濕满滿滨濱滩灘澜瀾灯燈点點热熱牵牽独獨猎獵猕獼猫貓獭獺
环環现現电電画畫疗療痒癢盏盞盐鹽监監盖蓋盘盤码碼砖磚础礎确確碍礙离離种種积積称稱稳穩窑窯笋筍笔筆签簽简簡篮籃篱籬类類粮糧
紧緊红紅纤纖约約级級纳納纸紙纹紋纺紡纽紐线線练練组組细細织織终終绍紹经經绒絨结結绕繞绘繪给給统統绣繡续續绳繩维維综綜绿綠
缆纜缓緩编編缝縫缩縮缴繳网網职職联聯肤膚胜勝脐臍脑腦脱脫舱艙艺藝节節芦蘆苇葦荐薦荞蕎荤葷荫蔭药藥莲蓮获獲萤螢营營蓝藍虚虛
虫蟲补補袭襲装裝见見观觀规規觅覓视視览覽觉覺计計订訂认認讨討让讓训訓议議讯訊记記讲講许許论論设設访訪证證评評识識诊診词詞
译譯试試话話询詢详詳语語误誤说說请請读讀课課调調谈談谱譜负負财財责責账賬货貨质質购購贯貫贴貼贷貸费費资資赔賠赛賽赞贊赠贈
赶趕践踐车車轨軌转轉轮輪软軟轴軸轻輕载載较較辑輯输輸边邊达達过過运運还還这這进進远遠连連迟遲适適选選遗遺邮郵酱醬释釋针針
钉釘钓釣钟鐘钢鋼钱錢铁鐵铜銅铝鋁银銀铸鑄铺鋪链鏈销銷锁鎖锈鏽锋鋒错錯锡錫锦錦键鍵镇鎮镜鏡镰鐮长長门門闭閉问問闲閒间間闷悶
阅閱队隊阳陽阴陰阵陣阶階陆陸随隨难難雾霧页頁顶頂项項须須顾顧顿頓预預领領颈頸频頻题題颜顏额額风風飞飛饮飲馆館馈饋驳駁驶駛
驻駐驾駕驿驛验驗骑騎鱼魚鲜鮮鲵鯢鲸鯨鳞鱗鸡雞鸣鳴鸭鴨鸯鴦鸳鴛鹅鵝鹤鶴鹬鷸鹭鷺鹰鷹麦麥齐齊龄齡龙龍个個众眾册冊冲沖匀勻却卻
吗嗎几幾杨楊蜗蝸乌烏内內写寫厨廚叶葉矿礦礼禮秆稈筹籌枢樞马馬洼窪
`)

// pairs reads pairs of characters, each to be mapped to the one after it.
func pairs(s string) map[rune]rune {
	characters := []rune(strings.ReplaceAll(s, "\n", ""))
	m := make(map[rune]rune, len(characters)/2)
	for i := 0; i+1 < len(characters); i += 2 {
		m[characters[i]] = characters[i+1]
	}
	return m
}
